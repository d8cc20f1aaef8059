"""Folders in the styles in which people publish pictures, with what they mean."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from tests.datasets.foreign_layout import Layout

_AB = "{cats,dogs}"
_AB3 = "{cats,dogs}:3/2"


def _parts_in_any_spelling() -> Iterator[Layout]:
    """Parts around classes, in the spellings people use."""
    two = [
        "train test", "Train Test", "TRAIN TEST", "training testing", "TRAINING TEST",
        "training_set test_set", "train_images test_images", "trainset testset", "train1 test1",
        "train␣data test␣data", "01_train 02_test", "dataset_train dataset_test",
        "seg_train seg_test", "flowers-train flowers-test", "trainData testData",
        "trainImages testImages", "Train_Set Test_Set", "training-images test-images",
        "X_train X_test", "train_v2 test_v2", "Training Test", "train holdout", "train val",
        "train valid", "train dev", "train eval", "train evaluation", "Final_Training Final_Test",
        "train2017 val2017", "train_full test_full", "TrainingSet TestSet",
        "train_cropped test_cropped", "训练集 测试集", "treino teste", "entrenamiento prueba",
        "train-imgs test-imgs", "my_train my_test", "train(1) test(1)", "trn tst", "images_train images_test",
    ]  # fmt: skip
    for names in two:
        first, second = names.split()
        yield Layout(f"parts {first.replace('␣', ' ')}", f"{first}/{_AB}*3 {second}/{_AB}*2", _AB3)
    three = [
        "train valid test", "train val test", "Training Validation Test", "train dev test",
        "train_set val_set test_set", "01_train 02_val 03_test", "TRAIN VAL TEST",
        "train validation holdout", "train eval test", "trainset valset testset",
        "seg_train seg_val seg_test", "training validation testing", "train val2 test2",
    ]  # fmt: skip
    for names in three:
        first, second, third = names.split()
        words = f"{first}/{_AB}*3 {second}/{_AB}*1 {third}/{_AB}*2"
        yield Layout(f"parts {first} {second} {third}", words, "{cats,dogs}:3/2/1")


def _published() -> Iterator[Layout]:
    """Data sets as they are published."""
    scenes = "{buildings,forest,sea}"
    yield Layout(
        "kaggle intel",
        f"seg_train/seg_train/{scenes}*4 seg_test/seg_test/{scenes}*2 seg_pred/seg_pred*5",
        f"{scenes}:4/2", 5,
    )  # fmt: skip
    yield Layout(
        "kaggle catsdogs",
        "training_set/training_set/{cats,dogs}*3 test_set/test_set/{cats,dogs}*2 "
        "training_set/training_set/cats/_DS_Store",
        _AB3,
    )
    yield Layout(
        "kaggle dogs-vs-cats",
        "train/train/{cat,dog}.#.jpg*6 test1/test1/#.jpg*4", "{cat,dog}:6", 4,
    )  # fmt: skip
    yield Layout("kaggle dogs-vs-cats train only", "train/{cat,dog}.#.jpg*6", "{cat,dog}:6")
    xray = "{NORMAL,PNEUMONIA}"
    yield Layout(
        "chest x-ray",
        f"chest_xray/train/{xray}*4 chest_xray/test/{xray}*2 chest_xray/val/{xray}*1 "
        f"chest_xray/__MACOSX/train/{xray}*1 chest_xray/chest_xray/train/{xray}*4 "
        f"chest_xray/chest_xray/test/{xray}*2",
        f"{xray}:4/2/1", 12,
    )  # fmt: skip
    yield Layout(
        "fruits-360",
        "fruits-360/Training/{Apple␣Braeburn,Banana␣Lady␣Finger}*3 "
        "fruits-360/Test/{Apple␣Braeburn,Banana␣Lady␣Finger}*2 "
        "fruits-360/test-multiple_fruits*4 fruits-360/papers/p.pdf fruits-360/LICENSE",
        "{Apple␣Braeburn,Banana␣Lady␣Finger}:3/2", 4,
    )  # fmt: skip
    leaves = "{Apple___scab,Apple___healthy,Corn___rust}"
    for around in ("", "plantvillage␣dataset/"):
        yield Layout(
            f"plant village {around}",
            f"{around}{{color,grayscale,segmented}}/{leaves}*3",
            f"{leaves}:3", 18,
        )  # fmt: skip
    yield Layout(
        "oxford pets",
        "images/{Abyssinian,american_bulldog,Bengal}_#.jpg*5 annotations/list.txt "
        "annotations/trimaps/{Abyssinian,Bengal}_#*5",
        "{Abyssinian,american_bulldog,Bengal}:5", 10,
    )  # fmt: skip
    yield Layout(
        "caltech 101",
        "caltech-101/101_ObjectCategories/{accordion,BACKGROUND_Google,Faces_easy}*3 "
        "caltech-101/Annotations/accordion/annotation_0001.mat",
        "{accordion,BACKGROUND_Google,Faces_easy}:3",
    )
    yield Layout(
        "caltech 256", "256_ObjectCategories/{001.ak47,002.american-flag,257.clutter}*3",
        "{001.ak47,002.american-flag,257.clutter}:3",
    )  # fmt: skip
    dogs = "{n02085620-Chihuahua,n02085782-Japanese_spaniel}"
    yield Layout("stanford dogs", f"Images/{dogs}/n0_#.jpg*4 Annotation/{dogs}/n0_1", f"{dogs}:4")
    yield Layout("stanford dogs flat", "{n02085620,n02085782}_#.jpg*6", "{n02085620,n02085782}:6")
    birds = "{001.Black_footed_Albatross,002.Laysan_Albatross}"
    yield Layout(
        "cub 200",
        f"CUB_200_2011/images/{birds}*4 CUB_200_2011/parts/parts.txt CUB_200_2011/images.txt "
        f"CUB_200_2011/attributes/a.txt segmentations/{birds}*4",
        f"{birds}:4", 8,
    )  # fmt: skip
    yield Layout("cub 200 alone", f"CUB_200_2011/images/{birds}*4 CUB_200_2011/R", f"{birds}:4")
    signs = "{00000,00001,00042}"
    yield Layout(
        "gtsrb",
        f"GTSRB/Final_Training/Images/{signs}/0_#.ppm*4 GTSRB/Final_Test/Images/#.ppm*5 "
        "GTSRB/Final_Test/GT.csv",
        f"{signs}:4", 5,
    )  # fmt: skip
    yield Layout("gtsrb kaggle", "Train/{0,1,10,2}*4 Test/#*5 Meta/#*4 Train.csv", "{0,1,10,2}:4",
                 9)  # fmt: skip
    yield Layout("lfw", "lfw/{Aaron_Eckhart,Abel_Pacheco}*3 lfw/Zico*1",
                 "{Aaron_Eckhart,Abel_Pacheco}:3 Zico:1")  # fmt: skip
    ids = "{n01443537,n01629819}"
    yield Layout(
        "tiny imagenet",
        f"tiny-imagenet-200/train/{ids}/images/x_#.JPEG*4 tiny-imagenet-200/train/"
        "n01443537/n01443537_boxes.txt tiny-imagenet-200/val/images/val_#.JPEG*4 "
        "tiny-imagenet-200/val/val_annotations.txt tiny-imagenet-200/test/images/test_#.JPEG*3",
        f"{ids}:4", 7,
    )  # fmt: skip
    yield Layout("food-101", "food-101/images/{apple_pie,waffles}*4 food-101/meta/train.txt",
                 "{apple_pie,waffles}:4")  # fmt: skip
    yield Layout("imagenet", f"ILSVRC/Data/CLS-LOC/train/{ids}*4 ILSVRC/Data/CLS-LOC/val/{ids}*2 "
                 f"ILSVRC/Data/CLS-LOC/test/#.JPEG*3 ILSVRC/ImageSets/CLS-LOC/train.txt",
                 f"{ids}:4/0/2", 3)  # fmt: skip
    yield Layout("roboflow", "{train,valid,test}/{daisy,rose}*3 README.roboflow.txt",
                 "{daisy,rose}:3/3/3")  # fmt: skip
    yield Layout("teachable machine", "Class␣1/#.jpg*4 Class␣2/#.jpg*4 metadata.json",
                 "{Class␣1,Class␣2}:4")  # fmt: skip
    yield Layout("eurosat", "2750/{AnnualCrop,Forest,SeaLake}*3", "{AnnualCrop,Forest,SeaLake}:3")
    yield Layout("rice", "Rice_Image_Dataset/{Arborio,Basmati}*3 Rice_Image_Dataset/c.txt",
                 "{Arborio,Basmati}:3")  # fmt: skip
    yield Layout("brain mri", "{Training,Testing}/{glioma_tumor,no_tumor}*3",
                 "{glioma_tumor,no_tumor}:3/3")  # fmt: skip
    yield Layout("brain mri copy", "{yes,no}*3 brain_tumor_dataset/{yes,no}*3", "{yes,no}:3", 6)  # fmt: skip
    yield Layout("covid radiography",
                 "COVID-19_Radiography_Dataset/{COVID,Normal}/{images,masks}*3",
                 "{COVID,Normal}:3", 6)  # fmt: skip
    yield Layout("asl alphabet",
                 "asl_alphabet_train/asl_alphabet_train/{A,B,del}*3 "
                 "asl_alphabet_test/asl_alphabet_test/{A,B,del}_test#.jpg*1",
                 "{A,B,del}:3", 3)  # fmt: skip
    yield Layout("facial expression", "images/train/{angry,happy}*3 images/validation/"
                 "{angry,happy}*2", "{angry,happy}:3/2")  # fmt: skip
    yield Layout("fer2013", "{train,test}/{angry,disgust,happy}*3", "{angry,disgust,happy}:3/3")
    yield Layout("mnist png", "mnist_png/{training,testing}/{0,1,9}*3", "{0,1,9}:3/3")
    yield Layout("cifar png", "cifar10/{train,test}/{airplane,truck}*3 cifar10/labels.txt",
                 "{airplane,truck}:3/3")  # fmt: skip
    yield Layout("imagenette", f"imagenette2-160/{{train,val}}/{ids}*3 "
                 "imagenette2-160/noisy_imagenette.csv", f"{ids}:3/3")  # fmt: skip
    yield Layout("hymenoptera", "hymenoptera_data/{train,val}/{ants,bees}*3", "{ants,bees}:3/3")
    yield Layout("cats and dogs filtered", "cats_and_dogs_filtered/{train,validation}/{cats,dogs}*3"
                 " cats_and_dogs_filtered/vectorize.py", "{cats,dogs}:3/3")  # fmt: skip
    yield Layout("petimages", "PetImages/{Cat,Dog}*3 readme[1].txt MSR-LA.docx", "{Cat,Dog}:3")
    yield Layout("flower photos", "flower_photos/{daisy,roses}*3 flower_photos/LICENSE.txt",
                 "{daisy,roses}:3")  # fmt: skip
    yield Layout("garbage", "garbage_classification/Garbage␣classification/{glass,metal}*3 "
                 "one-indexed-files.txt zero-indexed-files.txt", "{glass,metal}:3")  # fmt: skip
    yield Layout("garbage twice", "Garbage␣classification/Garbage␣classification/{glass,metal}*3 "
                 "garbage_classification.csv", "{glass,metal}:3")  # fmt: skip
    yield Layout("sports", "{train,valid,test}/{air␣hockey,wingsuit␣flying}*3 sports.csv "
                 "EfficientNetB0.h5", "{air␣hockey,wingsuit␣flying}:3/3/3")  # fmt: skip
    yield Layout("malaria", "cell_images/{Parasitized,Uninfected}*3 "
                 "cell_images/cell_images/{Parasitized,Uninfected}*3",
                 "{Parasitized,Uninfected}:3", 6)  # fmt: skip
    yield Layout("animals-10", "raw-img/{cane,gatto}*3 translate.py", "{cane,gatto}:3")
    yield Layout("monkeys", "{training,validation}/{training,validation}*0 "
                 "training/training/{n0,n1}*3 validation/validation/{n0,n1}*2 monkey_labels.txt",
                 "{n0,n1}:3/2")  # fmt: skip
    yield Layout("isic", "Skin␣cancer/{Train,Test}/{melanoma,nevus}*3", "{melanoma,nevus}:3/3")
    yield Layout("vegetables", "Vegetable␣Images/{train,test,validation}/{Bean,Tomato}*3",
                 "{Bean,Tomato}:3/3/3")  # fmt: skip
    yield Layout("landmarks", "dataset/dataset/images/{eiffel,colosseum}*3",
                 "{eiffel,colosseum}:3")  # fmt: skip
    yield Layout("mvtec", "bottle/{train,test}/good*3 bottle/test/broken_large*2 "
                 "bottle/ground_truth/broken_large*2", "", 0, "refused")  # fmt: skip


def _beside_and_deep() -> Iterator[Layout]:
    """Folders inside, beside and around."""
    yield Layout("images inside", "{cats,dogs}/images*3", "{cats,dogs}:3")
    yield Layout("images inside one", "cats/images*3 dogs*3", "{cats,dogs}:3")
    yield Layout("images of cats", "cats/cat_pictures*3 dogs/dog_pictures*3",
                 "{cat_pictures,dog_pictures}:3")  # fmt: skip
    yield Layout("masks", "{cats,dogs}/images*3 {cats,dogs}/masks*3", "{cats,dogs}:3", 6)
    yield Layout("masks among", "{cats,dogs}*3 {cats,dogs}/masks*3", "{cats,dogs}:3", 6)
    yield Layout("thumbs", "{cats,dogs}*3 {cats,dogs}/thumbs*3", "{cats,dogs}:3", 6)
    yield Layout("augmented", "{cats,dogs}*3 {cats,dogs}/augmented*2", "{cats,dogs}:3", 4)
    yield Layout("annotations beside", "images/{cats,dogs}*3 annotations/{cats,dogs}*3",
                 "{cats,dogs}:3", 6)  # fmt: skip
    yield Layout("face masks", "{masks,no_masks}*3", "{masks,no_masks}:3")
    yield Layout("accessories", "wear/{masks,gloves,hats}*3", "{masks,gloves,hats}:3")
    yield Layout("years", "{cats,dogs}/{2019,2020}*3", "{cats,dogs}:6")
    yield Layout("dates", "{cats,dogs}/{2019-07-01,2020-01-31}*3", "{cats,dogs}:6")
    yield Layout("years of some", "cats/{2019,2020}*3 dogs*3", "cats:6 dogs:3")
    yield Layout("cities", "{paris,rome}/{cats,dogs}*3", "{cats,dogs}:6", 0, "changeable")
    yield Layout("three cities", "{paris,rome,oslo}/{cats,dogs,birds}*2", "{cats,dogs,birds}:6",
                 0, "changeable")  # fmt: skip
    yield Layout("persons", "{cats,dogs}/{p1,p2}*3", "{cats,dogs}:6", 0, "changeable")
    yield Layout("kingdoms", "{plants,animals}/{a,b}*2 plants/c*2",
                 "{plants/a,plants/b,animals/a,animals/b}:2 c:2")  # fmt: skip
    yield Layout("superclasses", "animals/{cat,dog}*3 plants/{oak,rose}*3",
                 "{cat,dog,oak,rose}:3")  # fmt: skip
    yield Layout("uneven", "roses*3 trees/{oak,maple}*3", "{roses,oak,maple}:3", 0, "changeable")
    yield Layout("folds", "fold{1,2,3,4,5}/{cats,dogs}*2", "{cats,dogs}:10")
    yield Layout("folds kfold", "kfold_{0,1}/{cats,dogs}*3", "{cats,dogs}:6")
    yield Layout("folds with parts", "fold{1,2}/{train,test}/{cats,dogs}*3", "{cats,dogs}:3/3", 12)
    yield Layout("two data sets", "{old,new}/{train,test}/{cats,dogs}*3", "{cats,dogs}:3/3", 12)
    yield Layout("parts inside", "{cats,dogs}/{train,test}*3", "{cats,dogs}:3/3")
    yield Layout("parts inside three", "{cats,dogs}/{Train,Valid,Test}*3", "{cats,dogs}:3/3/3")
    yield Layout("parts inside eval", "{cats,dogs}/{train,eval}*3", "{cats,dogs}:3/3")
    yield Layout("parts inside four", "{cats,dogs}/{train,eval,test}*3 {cats,dogs}/unlabeled*1",
                 "{cats,dogs}:3/3/3", 2)  # fmt: skip
    yield Layout("trainval", "{trainval,test}/{cats,dogs}*3", "{cats,dogs}:3/3")
    yield Layout("stations of two towns", "{old_train_station,new_train_station}*3",
                 "{old_train_station,new_train_station}:3")  # fmt: skip
    yield Layout("kinds of tests", "{test_a,val}*3", "", 0, "refused")
    yield Layout("groups and a test", "birds/{owl,crow}*3 fish/{cod,eel}*3 test*2",
                 "{owl,crow,cod,eel}:3", 2)  # fmt: skip
    yield Layout("parts inside images", "{cats,dogs}/{train,val}/images*3", "{cats,dogs}:3/3")
    yield Layout("parts inside sets", "{cats,dogs}/{training_set,test_set}*3", "{cats,dogs}:3/3")
    yield Layout("around", "a/b/c/{cats,dogs}*3 a/b/readme.md", "{cats,dogs}:3")
    yield Layout("around parts", "download/data/{train,test}/{cats,dogs}*3", "{cats,dogs}:3/3")
    yield Layout("grid picture beside", "images/{cats,dogs}*3 #.jpg*1", "{cats,dogs}:3", 1)
    yield Layout("loose", "{cats,dogs}*3 #*4", "{cats,dogs}:3", 4)
    yield Layout("loose in train", "{train,test}/{cats,dogs}*3 train/#*2 test/#*1",
                 "{cats,dogs}:3/3", 3)  # fmt: skip
    yield Layout("unlabeled", "train/{cats,dogs}*3 test*6", "{cats,dogs}:3", 6)
    yield Layout("unlabeled beside", "train/{cats,dogs}*3 test/{cats,dogs}*2 unlabeled*6", _AB3, 6)
    yield Layout("unlabeled by name", "train/{cats,dogs}*3 unlabeled*6", "{cats,dogs}:3", 6)
    yield Layout("train only", "train/{cats,dogs}*3", "{cats,dogs}:3")
    yield Layout("test and val", "{test,valid}/{cats,dogs}*3", "{cats,dogs}:3/3")
    yield Layout("extra beside", "{train,test}/{cats,dogs}*3 extra/{cats,dogs}*2",
                 "{cats,dogs}:3/3", 4)  # fmt: skip
    yield Layout("train and extra", "{train,extra}/{cats,dogs}*3", "{cats,dogs}:6")
    yield Layout("two training sets", "train_{1,2}/{cats,dogs}*3 test/{cats,dogs}*2",
                 "{cats,dogs}:6/2")  # fmt: skip
    yield Layout("vehicles", "{car,plane,train}*3", "{car,plane,train}:3")
    yield Layout("vehicles inside", "car/{old,new}*3 train/{steam,diesel}*3",
                 "{old,new,steam,diesel}:3")  # fmt: skip
    yield Layout("stations", "{train_station,test_tube}*3", "{train_station,test_tube}:3")
    yield Layout("stations deep", "{train_station,test_tube}/{day,night}*3",
                 "{train_station,test_tube}:6", 0, "changeable")  # fmt: skip
    yield Layout("kits", "{dev␣board,valve,value}*3", "{dev␣board,valve,value}:3")
    yield Layout("other classes in test", "train/{cats,dogs}*3 test/{cats,birds}*2",
                 "cats:3/2 dogs:3", 2)  # fmt: skip
    yield Layout("order", "train-test-val/{train,test,val}/{a,b}*3", "{a,b}:3/3/3")
    yield Layout("test beside", "{daisy,rose}*3 test*4", "{daisy,rose}:3", 4)
    yield Layout("test beside as a class", "{daisy,rose,test}*3", "{daisy,rose,test}:3", 0,
                 "changeable")  # fmt: skip
    yield Layout("test classes beside", "{daisy,rose}*3 test/{daisy,rose}*2", "{daisy,rose}:3/2")
    yield Layout("test and val beside", "{a,b,c}*3 test/{a,b,c}*2 val/{a,b}*1",
                 "{a,b}:3/2/1 c:3/2")  # fmt: skip
    yield Layout("unlabeled beside classes", "{daisy,rose}*3 unlabeled*4", "{daisy,rose}:3", 4)
    yield Layout("masks by name", "{train,train_masks}/{cats,dogs}*3", "{cats,dogs}:3", 6)
    yield Layout("masks by class", "{cats,dogs,cats_masks,dogs_masks}*3", "{cats,dogs}:3", 6)
    yield Layout("wolves", "{wolf,gray_wolf}*3", "{wolf,gray_wolf}:3")
    yield Layout("a copy of a class", "{cats,dogs,cats␣-␣Copy}*3", "cats:6 dogs:3", 0, "changeable")
    yield Layout("counted classes", "{Class␣(1),Class␣(2)}*3", "{Class␣(1),Class␣(2)}:3")
    yield Layout("parts of a class by its name", "cats/cats_{train,test}*3 dogs/dogs_{train,test}*2",
                 "cats:3/3 dogs:2/2")  # fmt: skip
    yield Layout("parts of a class by one word", "{cats,dogs}/flowers-{train,val}*3",
                 "{cats,dogs}:3/3")  # fmt: skip
    yield Layout("flat parts", "{train,test}*6", "", 0, "refused")
    yield Layout("empty classes", "{cats,dogs}*3 birds/", "{cats,dogs}:3")


def _names_of_files() -> Iterator[Layout]:
    """Classes in the names of files."""
    for pattern in ("{cat,dog}.#.jpg", "{cat,dog}_#", "{cat,dog}-#", "{cat,dog}#", "{cat,dog}␣(#)",
                    "#_{cat,dog}", "{cat,dog}_0#_1"):  # fmt: skip
        yield Layout(f"names {pattern}", f"{pattern}*6", "{cat,dog}:6")
    yield Layout("names around", "photos/{cat,dog}_#*6", "{cat,dog}:6")
    yield Layout("names of parts", "{train,test}/{cat,dog}_#*6", "{cat,dog}:6/6")
    yield Layout("names of three parts", "{train,val,test}/{cat,dog}.#*6", "{cat,dog}:6/6/6")
    yield Layout("names of parts deep", "{train,test}/images/{cat,dog}_#*6", "{cat,dog}:6/6")
    yield Layout("names and others", "{cat,dog}_#*30 #*1", "{cat,dog}:30", 1)
    yield Layout("names of many words", "{red_rose,white_rose,tulip}_#*6",
                 "{red_rose,white_rose,tulip}:6")  # fmt: skip
    yield Layout("cameras", "{IMG,DSC}_#*6", "", 0, "refused")
    yield Layout("patients", "patient{01,02}_#*6", "", 0, "refused")
    yield Layout("numbers", "#*6", "", 0, "refused")
    yield Layout("names of people", "{anna,bert,carl,dora}_#*1", "", 0, "refused")
    yield Layout("table", "images/#*6 labels.csv", "", 0, "refused")


def _odd_names() -> Iterator[Layout]:
    """Names in several forms."""
    nfd = unicodedata.normalize("NFD", "Löwenzahn")
    yield Layout("nfd", f"train/{{Löwenzahn,rose}}*3 test/{{{nfd},rose}}*2", "{Löwenzahn,rose}:3/2")
    yield Layout("case", "train/{Rose,Tulip}*3 test/{rose,TULIP}*2", "{Rose,Tulip}:3/2")
    yield Layout("spaces", "train/{red␣rose,tulip}*3 test/{red␠rose,tulip}*2",
                 "{red␣rose,tulip}:3/2")  # fmt: skip
    yield Layout("invisible", "train/{rose,tulip}*3 test/{ro\u200bse,tulip}*2", "{rose,tulip}:3/2")
    yield Layout("case within", "{rose,Rose,tulip}*3", "Rose:6 tulip:3", 0, "changeable")
    yield Layout("case within kept", "{rose,Rose}*3", "{rose,Rose}:3")
    yield Layout("numbers", "{1,2,10,11}*3", "{1,2,10,11}:3")
    yield Layout("odd", "{_,-x,%s,#1,a'b}*3".replace("#1", "@1"), "{_,-x,%s,@1,a'b}:3")
    yield Layout("emoji", "{👩‍🌾,🌹}*3", "{👩‍🌾,🌹}:3")
    yield Layout("scripts", "{роза,玫瑰,장미,ورد}*3", "{роза,玫瑰,장미,ورد}:3")


def layouts() -> list[Layout]:
    """All of them."""
    every = (_parts_in_any_spelling, _published, _beside_and_deep, _names_of_files, _odd_names)
    return [layout for some in every for layout in some()]
